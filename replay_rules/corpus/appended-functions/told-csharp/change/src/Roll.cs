using System;
using System.Collections.Generic;

namespace Quay
{
    public sealed class Roll
    {
        public List<string> Names { get; } = new();

        [Obsolete]
        public int Count()
        {
            return Names.Count;
        }
    }
}
