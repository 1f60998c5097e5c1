/** The tables of the status of each model. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { plugins } from './index.ts'
import { parseCapture } from './replay.ts'

const manufacturers = plugins.filter(({ adapters }) => adapters.some(({ follow }) => follow === undefined))
const rows = plugins.flatMap((plugin) => (plugin.modelStatus ?? []).map((row) => ({ plugin, ...row })))

function readCapture(name: string) {
  return parseCapture(readFileSync(new URL(`../../test/captures/${name}`, import.meta.url), 'utf8')).header
}

// Conformance: C-24.6.
it.each(manufacturers)('$name has a status for every protocol', ({ adapters, modelStatus = [] }) => {
  const protocols = new Set(modelStatus.map(({ protocol }) => protocol))
  expect([...protocols].sort()).toEqual(adapters.map(({ protocol }) => protocol).sort())
})

// Conformance: C-24.6.
describe.each(rows)('the status of $model', ({ plugin, status, protocol, firmware, date, source, values }) => {
  it('has a date and a source', () => {
    expect(new Date(`${date}T00:00:00Z`).toISOString().slice(0, 10)).toBe(date)
    expect(source.length).toBeGreaterThan(10)
  })

  if (status === 'documents') return

  it('names the firmware and the values', () => {
    expect(firmware).toEqual(expect.any(String))
    expect(values.length).toBeGreaterThan(0)
  })

  it(status === 'capture' ? 'has a capture of a device' : 'has a public report', () => {
    if (status === 'confirmed by a user') return expect(source).toMatch(/^https:\/\//)
    const header = readCapture(source.split(',')[0] ?? '')
    expect(header).toMatchObject({ plugin: plugin.code, protocol, firmware: [firmware] })
    expect(header.source).not.toMatch(/simulator/i)
  })
})
