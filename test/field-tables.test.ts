/**
 * The tables of fields: each reader at the bounds of its range, with codes and with other forms. Also checks their
 * document, which `npx vitest run test/field-tables.test.ts -u` writes.
 */

import { describe, expect, test } from 'vitest'
import { plugins } from '../src/manufacturers/index.ts'
import { table as api } from '../src/upstream/device-api.ts'
import { createMisfits, type Field, type FieldTable, percent } from '../src/upstream/field-table.ts'

const tables: readonly FieldTable[] = [api, ...plugins.flatMap(({ fieldTables = [] }) => fieldTables)]
const fields = tables.flatMap((table) =>
  Object.entries(table.fields).map(([name, field]) => [`${table.family}: ${name}`, field] as const),
)

describe.each(fields)('%s', (_, field) => {
  test.each([{}, { value: 1 }, Number.NaN, Symbol.iterator, () => 1])(
    'reads a value of another form as unknown',
    (raw) => {
      // The meters of a Spectera are an object.
      if (field.address.endsWith('Out')) return
      expect(field.read(raw)).toBeNull()
    },
  )

  test('reads null as unknown, and undefined as not reported', () => {
    expect(field.read(null)).toBeNull()
    expect(field.read(undefined)).toBeUndefined()
  })

  const [, min, max] = /^(-?[\d.]+) to ([\d.]+)/.exec(field.range) ?? []
  if (min !== undefined && max !== undefined && !field.unit.startsWith('list')) {
    // Conformance: C-22.6.
    test('reads only numbers within its range, none of which is a code', () => {
      const codes = Object.keys(field.codes).map(Number)
      const valid = [Number(min), Number(max)].filter((value) => !codes.includes(value))
      // Some protocols send numbers as text.
      const isText = field.hasForm('1')
      const read = (value: number) => field.read(isText ? String(value) : value)
      for (const value of valid) expect(read(value), String(value)).toEqual(expect.any(Number))
      expect(field.read(isText ? Number(max) : max)).toBeNull()
      for (const value of [Number(min) - 1, Number(max) + 1, ...codes]) {
        expect(read(value), String(value)).toBeNull()
      }
    })
  }
})

test('a valid value of one channel does not clear the problem of another', () => {
  const misfits = createMisfits('10.0.0.5', { charge: percent('/rx*/charge') })
  expect(misfits.check([['/rx1/charge', 'full']])).toBe(true)
  expect(misfits.check([['/rx2/charge', 80]])).toBe(false)
  expect(misfits.list()).toMatchObject([{ problem: expect.stringContaining('reports /rx*/charge in an undocumented') }])
  expect(misfits.check([['/rx1/charge', 81]])).toBe(true)
  expect(misfits.list()).toEqual([])
})

test('are described in docs/hardware-fields.md', async () => {
  const head = `# Fields of individual devices

What Micwatch reads from each family, and how. A value that is a code, out of range or of another form is unknown, and so is a zero that a healthy value of the same report contradicts. In addresses, \`*\` stands for a number. [Supported equipment](hardware.md) says what the values are used for.
`
  const text = [head, ...tables.map(toSection)].join('\n')
  await expect(text).toMatchFileSnapshot('../docs/hardware-fields.md')
})

function toSection({ family, source, fields: ofFamily }: FieldTable): string {
  const rows = Object.values(ofFamily).map(toRow)
  return [
    `## ${family}\n`,
    `Source: ${source}.\n`,
    '| Field | Unit | Readings | Codes |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function toRow({ address, unit, range, codes }: Field): string {
  const meanings = Object.entries(codes).map(([code, meaning]) => `\`${code}\`: ${meaning}`)
  return `| \`${address}\` | ${unit} | ${range} | ${meanings.join('; ')} |`
}
