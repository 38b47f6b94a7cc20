using System;
using System.Collections.Generic;
using System.IO;

namespace Quay
{
    public sealed class Roll
    {
        public List<string> Names { get; } = new();
    }
}
