using System;
using System.Collections.Generic;

namespace Quay
{
    public sealed class Roll
    {
        public List<string> Names { get; } = new();

        public bool Has(string name)
        {
            return Names.Contains(name);
        }
    }
}
