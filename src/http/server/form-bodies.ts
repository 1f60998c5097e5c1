/** Parses forms with files (`multipart/form-data`), limited in the number and size of their fields. */

import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { UploadedFile } from '../../contract/schema.ts'
import { RequestError } from '../../domain/errors.ts'

type FormFields = Readonly<Record<string, string | UploadedFile>>

const maxFields = 10
const maxFieldBytes = 1024
/** The parts of a form except the contents of its file. */
const maxOtherBytes = 64 * 1024

/** The `bodyLimit` of a route that receives one file. */
export const formLimit = (maxFileBytes: number) => maxFileBytes + maxOtherBytes

/** Accepts forms only. `toBody` converts the fields, which are text or files, to the body that is validated. */
export function acceptForms(
  app: FastifyInstance,
  maxFileBytes: number,
  toBody: (fields: FormFields) => Readonly<Record<string, unknown>>,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: IncomingMessage) => {
    const form = openForm(request.headers['content-type'] ?? '', maxFileBytes)
    try {
      return toBody(await readFields(form, () => payload.pipe(form)))
    } finally {
      payload.unpipe(form)
      // The rest of the body is discarded, so that the client reads the response.
      payload.resume()
    }
  })
  app.addContentTypeParser('*', (_request, _payload, done) => done(new RequestError('not_a_form')))
}

function openForm(type: string, maxFileBytes: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: {
        files: 1,
        fields: maxFields,
        parts: maxFields + 1,
        fileSize: maxFileBytes,
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

function readFields(form: BusboyInstance, start: () => void): Promise<FormFields> {
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string | UploadedFile>()
    const fail = (details: string) => reject(new RequestError('bad_request', { details }))
    const add = (name: string, value: string | UploadedFile) => {
      if (fields.has(name)) fail(`${name}: expected only one value`)
      else fields.set(name, value)
    }
    form.on('file', (name, stream, fileName) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('limit', () => reject(new RequestError('too_large', { details: `${name}: the file is too large` })))
      stream.on('end', () => add(name, { name: fileName ?? '', bytes: new Uint8Array(Buffer.concat(chunks)) }))
      stream.on('error', () => fail('body: expected multipart/form-data'))
    })
    form.on('field', (name, value, isNameCut, isCut) => {
      if (isNameCut || isCut) fail(`${name}: expected at most ${maxFieldBytes} bytes`)
      else add(name, value)
    })
    form.on('filesLimit', () => fail('body: expected only one file'))
    form.on('fieldsLimit', () => fail(`body: expected at most ${maxFields} fields`))
    form.on('partsLimit', () => fail(`body: expected at most ${maxFields} fields and one file`))
    form.on('error', () => fail('body: expected complete multipart/form-data'))
    form.on('finish', () => resolve(Object.fromEntries(fields)))
    start()
  })
}
