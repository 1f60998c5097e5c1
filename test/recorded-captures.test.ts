/** Replays every capture in `test/captures` through its adapter: a file there is a test. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseCapture, replayCapture } from '../src/manufacturers/replay.ts'
import { expectCommonFormat } from './support/plugins/plugin-kit-fixtures.ts'

const folder = new URL('./captures/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const files = readdirSync(folder)

// Conformance: C-24.5, C-24.68.
it.concurrent.each(files)('reads %s as it was recorded', async (file) => {
  const capture = parseCapture(read(file))
  expect(capture.header.source?.length).toBeGreaterThan(20)
  expect(capture.end).not.toBeNull()
  const { differences, error, devices } = await replayCapture(capture)
  expect({ differences, error }).toEqual({ differences: [], error: null })
  expect(devices.length).toBeGreaterThan(0)
  for (const device of devices) expectCommonFormat(device)
})

/** Loopback, masks, no address, and what RFC 5737 and RFC 2544 reserve. A redaction invents only these. */
const publishable = /^(?:127|255|0)\.|^192\.0\.2\.|^198\.18\./

// Conformance: C-24.66.
it.each(files)('%s has no address of a network', (file) => {
  const { firmware } = parseCapture(read(file)).header
  const found = read(file).match(/(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g) ?? []
  const addresses = found.map((address) => address.split('.').map(Number).join('.'))
  expect(addresses.filter((address) => !firmware.includes(address) && !publishable.test(address))).toEqual([])
})
