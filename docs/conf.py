# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's settings. docs/site.py lays out the sources: the documents as they are, and a reference from headers, modules, manual pages and tables."""
project = "Quire"
author = "The Quire authors"
copyright = "The Quire authors"  # noqa: A001: Sphinx's name
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
root_doc = "index"
smartquotes = False  # they make dashes of --options
html_theme = "furo"
html_title = "Quire"
html_copy_source = False
html_show_sphinx = False
