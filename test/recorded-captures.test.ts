/** Replays every capture in `test/captures`: a file there is a test. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseCapture, replayCapture } from '../src/manufacturers/replay.ts'

const folder = new URL('./captures/', import.meta.url)

// Conformance: C-24.5.
it.concurrent.each(readdirSync(folder))('reads %s as it was recorded', async (file) => {
  const capture = parseCapture(readFileSync(new URL(file, folder), 'utf8'))
  expect(capture.header.source?.length).toBeGreaterThan(20)
  expect(capture.end).not.toBeNull()
  const { differences, error } = await replayCapture(capture)
  expect({ differences, error }).toEqual({ differences: [], error: null })
})
