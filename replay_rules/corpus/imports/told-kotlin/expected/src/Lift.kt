package harbour

import harbour.crane.Hook
import harbour.crane.Rope
import harbour.dock.Bollard
import harbour.dock.Fender as Bumper

fun lift(hook: Hook, rope: Rope): Int = hook.size + rope.size
