package dev.carillon

import android.graphics.Bitmap
import android.graphics.BitmapFactory
import java.io.ByteArrayOutputStream
import java.net.URL
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import javax.net.ssl.HttpsURLConnection

/** Loads the image of a message: over https, up to a megabyte, within five seconds. Otherwise the message has none. */
internal object LoadImage {
    private const val MAX_BYTES = 1024 * 1024
    private const val MAX_SECONDS = 5L
    private val threads = Executors.newCachedThreadPool()

    fun load(address: String): Bitmap? {
        if (!address.startsWith("https://", ignoreCase = true)) return null
        val loading = threads.submit(Callable { decode(read(address)) })
        return try {
            loading.get(MAX_SECONDS, TimeUnit.SECONDS)
        } catch (ignored: Exception) {
            // Too late, not found, not an image: the message is shown without it.
            loading.cancel(true)
            null
        }
    }

    private fun decode(bytes: ByteArray?): Bitmap? = bytes?.let { BitmapFactory.decodeByteArray(it, 0, it.size) }

    private fun read(address: String): ByteArray? {
        val connection = URL(address).openConnection() as HttpsURLConnection
        connection.connectTimeout = MAX_SECONDS.toInt() * 1000
        connection.readTimeout = MAX_SECONDS.toInt() * 1000
        try {
            if (connection.responseCode != 200) return null
            val bytes = ByteArrayOutputStream()
            val piece = ByteArray(16 * 1024)
            connection.inputStream.use { stream ->
                while (true) {
                    val length = stream.read(piece)
                    if (length < 0) break
                    bytes.write(piece, 0, length)
                    if (bytes.size() > MAX_BYTES) return null
                }
            }
            return bytes.toByteArray()
        } finally {
            connection.disconnect()
        }
    }
}
