package dev.carillon.core

import java.io.File
import java.io.FileOutputStream
import java.io.IOException

/** Keeps one text. A write is complete, or has not happened. */
interface Store {
    fun read(): String?

    /** @throws IOException */
    fun write(text: String)
}

/** Keeps the text in a file, whose folder must not be part of backups: the secret belongs to one device. */
class FileStore(private val file: File) : Store {
    override fun read(): String? = if (file.isFile) file.readText() else null

    override fun write(text: String) {
        val next = File(file.path + ".new")
        file.parentFile?.mkdirs()
        FileOutputStream(next).use {
            it.write(text.toByteArray())
            it.fd.sync()
        }
        if (!next.renameTo(file)) throw IOException("cannot replace ${file.name}")
    }
}
