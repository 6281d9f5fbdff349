@file:Suppress("UNUSED_PARAMETER", "unused")

package android.graphics

class Bitmap

object BitmapFactory {
    fun decodeByteArray(bytes: ByteArray, offset: Int, length: Int): Bitmap? = TODO()
}

object Color {
    fun parseColor(text: String): Int = TODO()
}
