@file:Suppress("UNUSED_PARAMETER", "unused")

package android.os

class Bundle {
    fun keySet(): Set<String> = TODO()
    fun getString(key: String): String? = TODO()
    fun getInt(key: String): Int = TODO()
    fun putString(key: String, value: String?) { TODO() }
}

object Build {
    val MODEL: String = TODO()

    object VERSION {
        val SDK_INT: Int = TODO()
        val RELEASE: String = TODO()
    }
}
