#include "gtest/gtest.h"

TEST(Quay, IsEmptyAtFirst) {
    EXPECT_TRUE(names().empty());
}

TEST(Quay, TurnsTheSecondAway) {
    EXPECT_FALSE(moor("b"));
}
