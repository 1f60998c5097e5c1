/** Checks of error responses. */

import { expect } from 'vitest'
import type { HttpResponse } from './http-client.ts'

/** Expects the schema that all error responses have. */
export function expectError(response: HttpResponse, status: number, details?: string | RegExp): void {
  expect([response.status, response.json]).toEqual([
    status,
    expect.objectContaining({ error: expect.any(String), status }),
  ])
  for (const key of Object.keys(response.json)) expect(['error', 'status', 'details']).toContain(key)
  expect(response.json.error).not.toBe('')
  expect(response.headers['content-type']).toMatch(/^application\/json/)
  if (details !== undefined) expect(response.json.details).toMatch(details)
}
