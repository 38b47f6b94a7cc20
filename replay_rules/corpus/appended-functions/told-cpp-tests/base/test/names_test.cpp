#include "gtest/gtest.h"

TEST(Quay, IsEmptyAtFirst) {
    EXPECT_TRUE(names().empty());
}
