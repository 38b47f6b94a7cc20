#include <string>
#include <vector>
#include <optional>

namespace quay {

std::vector<std::string> names() { return {}; }

}  // namespace quay
