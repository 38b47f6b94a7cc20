#include <stdio.h>
#include <string.h>

#include "quay.h"

int moor(const char *name)
{
    return printf("%s %zu\n", name, strlen(name));
}

#define KNOTS 4
