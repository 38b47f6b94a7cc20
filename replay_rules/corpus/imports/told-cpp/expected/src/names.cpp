#include <string>
#include <vector>
#include <map>
#include <optional>

namespace quay {

std::vector<std::string> names() { return {}; }

}  // namespace quay
