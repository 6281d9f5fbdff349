@file:Suppress("UNUSED_PARAMETER", "unused")

package android.net

class Uri {
    val scheme: String? get() = TODO()
    fun getQueryParameter(name: String): String? = TODO()

    class Builder {
        fun scheme(text: String): Builder = TODO()
        fun authority(text: String): Builder = TODO()
        fun appendPath(text: String): Builder = TODO()
        fun build(): Uri = TODO()
    }

    companion object {
        fun parse(text: String): Uri = TODO()
        fun fromParts(scheme: String, part: String, fragment: String?): Uri = TODO()
    }
}
