/** Parses forms with files (`multipart/form-data`), limited in the number and size of their fields. */

import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { UploadedFile } from '../../contract/schema.ts'
import { RequestError } from '../../domain/errors.ts'

/** A field is text or files. */
export type FormFields = Readonly<Record<string, string | readonly UploadedFile[]>>

interface FileLimits {
  /** The number of files. */
  readonly files: number
  /** For each file. */
  readonly fileBytes: number
  /** For all files. */
  readonly totalBytes: number
}

const maxFields = 10
const maxFieldBytes = 1024
/** The parts of a form except the contents of its file. */
const maxOtherBytes = 64 * 1024

/** The `bodyLimit` of a route that receives files. */
export const formLimit = (maxFileBytes: number) => maxFileBytes + maxOtherBytes

/** Accepts forms only. `toBody` converts the fields to the body that is validated. */
export function acceptForms(
  app: FastifyInstance,
  limits: FileLimits,
  toBody: (fields: FormFields) => Readonly<Record<string, unknown>>,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: IncomingMessage) => {
    const form = openForm(request.headers['content-type'] ?? '', limits)
    try {
      return toBody(await readFields(form, limits, () => payload.pipe(form)))
    } finally {
      payload.unpipe(form)
      // The rest of the body is discarded, so that the client reads the response.
      payload.resume()
    }
  })
  app.addContentTypeParser('*', (_request, _payload, done) => done(new RequestError('not_a_form')))
}

/** Returns the fields of a form, of which `file` is one file. */
export function withSingleFile({ file, ...fields }: FormFields): Readonly<Record<string, unknown>> {
  if (file === undefined) return fields
  if (typeof file === 'string') throw new RequestError('bad_request', { details: 'file: expected a file, not text' })
  return { ...fields, file: file[0] }
}

function openForm(type: string, { files, fileBytes }: FileLimits): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: {
        files,
        fields: maxFields,
        parts: maxFields + files,
        fileSize: fileBytes,
        fieldSize: maxFieldBytes,
        fieldNameSize: 100,
        headerPairs: 20,
      },
    })
  } catch (error) {
    throw new RequestError('bad_request', {
      details: 'body: expected multipart/form-data with a boundary',
      cause: error,
    })
  }
}

function readFields(form: BusboyInstance, { files, totalBytes }: FileLimits, start: () => void): Promise<FormFields> {
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string | UploadedFile[]>()
    const fail = (details: string) => reject(new RequestError('bad_request', { details }))
    let size = 0
    form.on('file', (name, stream, fileName) => {
      const chunks: Buffer[] = []
      let isTooLarge = false
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > totalBytes) reject(new RequestError('too_large', { details: `${name}: the files are too large` }))
        else chunks.push(chunk)
      })
      stream.on('limit', () => {
        isTooLarge = true
      })
      stream.on('end', () => {
        const file = { name: fileName ?? '', bytes: new Uint8Array(Buffer.concat(chunks)), isTooLarge }
        const known = fields.get(name) ?? []
        if (typeof known === 'string') fail(`${name}: expected only one value`)
        else fields.set(name, [...known, file])
      })
      stream.on('error', () => fail('body: expected multipart/form-data'))
    })
    form.on('field', (name, value, isNameCut, isCut) => {
      if (isNameCut || isCut) fail(`${name}: expected at most ${maxFieldBytes} bytes`)
      else if (fields.has(name)) fail(`${name}: expected only one value`)
      else fields.set(name, value)
    })
    const allowedFiles = files === 1 ? 'one file' : `${files} files`
    form.on('filesLimit', () => fail(`body: expected ${files === 1 ? 'only' : 'at most'} ${allowedFiles}`))
    form.on('fieldsLimit', () => fail(`body: expected at most ${maxFields} fields`))
    form.on('partsLimit', () => fail(`body: expected at most ${maxFields} fields and ${allowedFiles}`))
    form.on('error', () => fail('body: expected complete multipart/form-data'))
    form.on('finish', () => resolve(Object.fromEntries(fields)))
    start()
  })
}
