// SPDX-License-Identifier: BSD-3-Clause
// See ucx_link.hpp. One thread a process.
#include "floor/ucx_link.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

constexpr unsigned message_id = 0;

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK) throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

}  // namespace

ucx_link::ucx_link(const peer& other, const std::string& transport) {
  open(transport);
  connect(other, transport == "tcp");
}

ucx_link::~ucx_link() {
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

void ucx_link::open(const std::string& transport) {
  const bool tcp = transport == "tcp";
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "configuration");
  check(ucp_config_modify(config, "TLS", tcp ? "tcp" : "posix"), "TLS");
  check(ucp_config_modify(config, "RNDV_THRESH", tcp ? "256k" : "32k"), "RNDV_THRESH");
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  check(ucp_init(&parameters, config, &context_), "UCX");
  ucp_config_release(config);

  ucp_worker_params_t how{};
  how.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  how.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(ucp_worker_create(context_, &how, &worker_), "worker");

  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = message_id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = &on_active_message;
  handler.arg = this;
  check(ucp_worker_set_am_recv_handler(worker_, &handler), "handler");
}

void ucx_link::connect(const peer& other, bool reports_losses) {
  ucp_address_t* own = nullptr;
  std::size_t length = 0;
  check(ucp_worker_get_address(worker_, &own, &length), "address");
  const auto theirs = other.exchange({reinterpret_cast<const std::byte*>(own), length});
  ucp_worker_release_address(worker_, own);

  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  parameters.address = reinterpret_cast<const ucp_address_t*>(theirs.data());
  parameters.err_mode = reports_losses ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  check(ucp_ep_create(worker_, &parameters, &endpoint_), "endpoint");
}

void ucx_link::send(std::span<const std::byte> header, std::span<const std::byte> payload) {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.send = &on_sent;
  how.user_data = this;
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  const auto request =
      ucp_am_send_nbx(endpoint_, message_id, header.data(), header.size(), payload.data(), payload.size(), &how);
  if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "send");
  if (UCS_PTR_IS_PTR(request)) ++pending_;
}

void ucx_link::on_sent(void* request, ucs_status_t, void* self) {
  --static_cast<ucx_link*>(self)->pending_;
  ucp_request_free(request);
}

ucs_status_t ucx_link::on_active_message(void* arg, const void* header, std::size_t header_bytes, void* data,
                                         std::size_t bytes, const ucp_am_recv_param_t* how) {
  auto& self = *static_cast<ucx_link*>(arg);
  const std::span head{static_cast<const std::byte*>(header), header_bytes};
  if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    self.receiver_->on_message(head, {static_cast<const std::byte*>(data), bytes});
    return UCS_OK;
  }
  auto arrived = std::make_unique<arrival>(arrival{&self, {}, header_bytes, self.receiver_->place(head), bytes});
  std::memcpy(arrived->header, header, header_bytes);
  ucp_request_param_t receive{};
  receive.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  receive.cb.recv_am = &on_payload;
  receive.user_data = arrived.get();
  receive.memory_type = UCS_MEMORY_TYPE_HOST;
  const auto request = ucp_am_recv_data_nbx(self.worker_, data, arrived->place, bytes, &receive);
  if (!UCS_PTR_IS_PTR(request)) return UCS_PTR_STATUS(request);
  (void)arrived.release();  // on_payload takes it
  return UCS_INPROGRESS;
}

void ucx_link::on_payload(void* request, ucs_status_t, std::size_t, void* arg) {
  const std::unique_ptr<arrival> arrived(static_cast<arrival*>(arg));
  ucp_request_free(request);
  arrived->owner->receiver_->on_message({arrived->header, arrived->header_bytes}, {arrived->place, arrived->bytes});
}

void ucx_link::flush() {
  const ucp_request_param_t how{};
  const auto request = ucp_worker_flush_nbx(worker_, &how);
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) progress();
  ucp_request_free(request);
}

}  // namespace bench
