// SPDX-License-Identifier: BSD-3-Clause
// PNG by libpng's simplified interface. Called once at the end of a run, on node 0.
#include "common/png.hpp"

#include <stdexcept>

#include <png.h>

namespace apps {

void write_png(const std::string& path, std::span<const std::uint32_t> pixels, std::size_t width, std::size_t height) {
  if (pixels.size() < width * height) throw std::runtime_error("a picture has fewer pixels than its size says");
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGBA;
  if (png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error("cannot write " + path + ": " + image.message);
}

}  // namespace apps
