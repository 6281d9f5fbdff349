package dev.carillon.core

import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import org.json.JSONException
import org.json.JSONObject

class Request(val address: String, val headers: Map<String, String>, val body: JSONObject?)

/** `code` is the service's word for an error, empty for a success. */
class Response(val status: Int, val code: String, val body: JSONObject, val retryAfterSeconds: Long)

fun interface Transport {
    /** Posts the request. @throws IOException if no response came */
    fun post(request: Request): Response
}

/** Posts by `HttpURLConnection`, which every Android and every JVM has. Follows no redirect: the app key is for one host. */
class HttpTransport : Transport {
    override fun post(request: Request): Response {
        val connection = URL(request.address).openConnection() as HttpURLConnection
        try {
            connection.requestMethod = "POST"
            connection.connectTimeout = MAX_MILLISECONDS
            connection.readTimeout = MAX_MILLISECONDS
            connection.instanceFollowRedirects = false
            for ((name, value) in request.headers) connection.setRequestProperty(name, value)
            connection.doOutput = true
            if (request.body != null) connection.setRequestProperty("Content-Type", "application/json")
            val bytes = request.body?.toString()?.toByteArray() ?: ByteArray(0)
            // Without a fixed length: in streaming mode a response with 401 is an exception, not a response.
            connection.outputStream.use { it.write(bytes) }
            return read(connection)
        } finally {
            connection.disconnect()
        }
    }

    private fun read(connection: HttpURLConnection): Response {
        val status = connection.responseCode
        val stream = if (status < 400) connection.inputStream else connection.errorStream
        val text = stream?.use { it.readBytes().decodeToString() }.orEmpty()
        val body = try {
            JSONObject(text)
        } catch (ignored: JSONException) {
            // A proxy or a sign-in page of a network replied.
            JSONObject()
        }
        val wait = connection.getHeaderField("Retry-After")?.toLongOrNull() ?: 0
        return Response(status, body.optString("code"), body, wait)
    }

    private companion object {
        const val MAX_MILLISECONDS = 15_000
    }
}
