namespace Quay
{
    public enum Signal
    {
        Ahead,
        Astern,
        Stop,
        Moored,
    }
}
