#include <string>
#include <vector>
#include <map>

namespace quay {

std::vector<std::string> names() { return {}; }

}  // namespace quay
