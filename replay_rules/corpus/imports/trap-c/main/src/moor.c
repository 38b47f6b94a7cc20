#include <stdio.h>
#include <string.h>

#include "quay.h"
#include "crane.h"

int moor(const char *name)
{
    return printf("%s %zu\n", name, strlen(name));
}
