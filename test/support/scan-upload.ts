/** Uploads files as forms. */

import type { TestApp } from './app.ts'

type Headers = Readonly<Record<string, string>>

export async function sendForm(app: TestApp, form: FormData, headers: Headers = {}, path = '/api/scans/') {
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? ''
  const body = Buffer.from(await encoded.arrayBuffer())
  return app.send('POST', path, { headers: { ...headers, 'content-type': type }, body })
}

export function uploadScan(
  app: TestApp,
  file: string | Uint8Array,
  options: { name?: string; fields?: Headers; headers?: Headers } = {},
) {
  const form = new FormData()
  form.append('file', new Blob([file as BlobPart]), options.name ?? 'hall.csv')
  for (const [name, value] of Object.entries(options.fields ?? {})) form.append(name, value)
  return sendForm(app, form, options.headers)
}
