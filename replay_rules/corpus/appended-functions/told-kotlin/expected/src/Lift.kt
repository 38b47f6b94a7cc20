package harbour

import harbour.crane.Hook
import harbour.crane.Rope

fun lift(hook: Hook, rope: Rope): Int = hook.size + rope.size

fun lower(hook: Hook) {
    hook.drop()
}

/** A load on a hook. */
data class Load(val name: String, val kilos: Int)
