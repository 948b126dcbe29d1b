# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch on processors: a small net learns; operators and their gradients are regions of OpenMP, products are BLAS's."""

import sys
import time

import torch

torch.manual_seed(1)
x = torch.randn(20_000, 100)
y = (x[:, :5].sum(1, keepdim=True) > 0).float()
net = torch.nn.Sequential(torch.nn.Linear(100, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
steps = torch.optim.SGD(net.parameters(), lr=0.1)


def learn(count):
    for _ in range(count):
        steps.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x), y)
        loss.backward()
        steps.step()
    return round(loss.item(), 5)


learn(1)
begin = time.perf_counter()
print(learn(4))
print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
