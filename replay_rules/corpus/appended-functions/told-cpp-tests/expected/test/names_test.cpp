#include "gtest/gtest.h"

TEST(Quay, IsEmptyAtFirst) {
    EXPECT_TRUE(names().empty());
}

TEST(Quay, HoldsOneShip) {
    EXPECT_EQ(1, berths());
}

TEST(Quay, TurnsTheSecondAway) {
    EXPECT_FALSE(moor("b"));
}
