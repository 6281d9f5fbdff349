@file:Suppress("UNUSED_PARAMETER", "unused")

package android.content.res

class Resources {
    fun getIdentifier(name: String, type: String, packageName: String): Int = TODO()
}
