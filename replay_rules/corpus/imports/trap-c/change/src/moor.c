#include <stdio.h>
#include <string.h>

#include "quay.h"
#include "winch.h"

int moor(const char *name)
{
    return printf("%s %zu\n", name, strlen(name));
}
