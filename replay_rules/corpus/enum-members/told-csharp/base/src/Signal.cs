namespace Quay
{
    public enum Signal
    {
        Ahead,
        Astern,
    }
}
