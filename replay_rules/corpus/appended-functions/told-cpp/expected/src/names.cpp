#include <string>
#include <vector>

namespace quay {

std::vector<std::string> names() { return {}; }

int depth(int fathoms) { return fathoms * 2; }

template <typename T>
T larger(T one, T other) { return one < other ? other : one; }

}  // namespace quay
