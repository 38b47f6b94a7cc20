using System;
using System.Collections.Generic;
using Chart = Quay.Sea.Chart;

namespace Quay
{
    public sealed class Roll
    {
        public List<string> Names { get; } = new();
    }
}
