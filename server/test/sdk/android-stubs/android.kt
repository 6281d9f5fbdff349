@file:Suppress("UNUSED_PARAMETER", "unused")

package android

object Manifest {
    object permission {
        const val POST_NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS"
    }
}
