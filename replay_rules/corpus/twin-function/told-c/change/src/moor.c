#include <stdio.h>
#include <string.h>

#include "quay.h"

int moor(const char *name)
{
    return printf("%s %zu\n", name, strlen(name));
}

static int half(int n)
{
    return n / 2;
}

int far(int n)
{
    return n + half(n);
}
