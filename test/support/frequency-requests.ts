/** Requests of the tests of frequencies. */

import type { TestApp } from './app.ts'
import type { HttpClient } from './http-client.ts'

export function write(app: HttpClient, method: string, path: string, body: unknown, more: Record<string, string> = {}) {
  const headers = { 'content-type': 'application/json', ...more }
  return app.send(method, path, { headers, body: JSON.stringify(body) })
}

export async function addPlaceholders(app: TestApp, frequencies: readonly string[], firstSlot = 1): Promise<string[]> {
  const ids: string[] = []
  for (const [index, frequency] of frequencies.entries()) {
    const body = { kind: 'wireless', name: `Vox ${index + 1}`, slot: firstSlot + index, frequency }
    ids.push(`p${(await app.post('/api/placeholders/', body)).json.id}`)
  }
  return ids
}

export const guards = { spacing: 350, '2t3o': 200, '3t3o': 100, '2t5o': 90 }

export function check(app: HttpClient, mhz: readonly string[], more: object = { guards }) {
  return app.post('/api/frequencies/check/', { carriers: mhz.map((one) => ({ id: one, mhz: one, ...more })) })
}
