import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonLimits } from '../domain/json-limits.ts'
import { type ItemList, readItems } from './items.ts'

const options = { key: 'devices', parse: (item: unknown) => item, limits: jsonLimits(1000), maxItems: 25_000 }

function read(text: string, before?: ItemList<unknown>) {
  return readItems(Buffer.from(text), { ...options, previous: before })
}

describe('readItems', () => {
  test('returns the same items as JSON.parse, with any white space and surrounding properties', async () => {
    const list = fc.array(fc.oneof(fc.jsonValue(), fc.record({ name: fc.string({ unit: 'binary' }) })))
    await fc.assert(
      fc.asyncProperty(list, fc.constantFrom(0, 2, '\t'), fc.jsonValue(), async (items, space, value) => {
        const body = { before: value, devices: items, after: [value] }
        const result = await read(JSON.stringify(body, null, space))
        if (!JSON.stringify(value).includes('"devices"')) {
          expect(result?.items).toEqual(JSON.parse(JSON.stringify(items)))
        }
        expect((await read(JSON.stringify(items, null, space)))?.items).toEqual(JSON.parse(JSON.stringify(items)))
      }),
    )
  })

  test('returns the same objects for unchanged items and parses the others', async () => {
    const first = await read('{"devices":[{"id":1},{"id":2,"name":"ü"},{"id":3}]}')
    const second = await read('{"count": 3, "devices":[{"id":1}, {"id":2,"name":"u"} ,{"id":3}]}', first)
    expect(second?.items).toEqual([{ id: 1 }, { id: 2, name: 'u' }, { id: 3 }])
    expect(second?.items.map((item, index) => item === first?.items[index])).toEqual([true, false, true])
    const third = await read('[{"id":1}]', second)
    expect(third?.items[0]).toBe(first?.items[0])
  })

  test('parses an item that starts like the previous one but is longer', async () => {
    const first = await read('[12,{"a":1}]')
    expect((await read('[123,{"a":10}]', first))?.items).toEqual([123, { a: 10 }])
  })

  test.each([
    ['cut off', '{"devices":[{"id":1},{"id"'],
    ['cut off between items', '[{"id":1},'],
    ['a comma too many', '[{"id":1},]'],
    ['no comma', '[{"id":1}{"id":2}]'],
    ['brackets that do not match', '[{"id":1]}'],
    ['something behind the list', '[{"id":1}] and more'],
    ['something that is no JSON beside it', '{"devices":[{"id":1}],"x":nonsense}'],
    ['no list', '{"devices":{"id":1}}'],
    ['two lists, of which JSON.parse takes the last', '{"devices":[{"id":1}],"devices":[]}'],
    ['an item that cannot be parsed', '[{"id":1},{"id":tru}]'],
    ['a text', '"devices"'],
    ['nothing', ''],
  ])('returns undefined for %s', async (_, text) => {
    expect(await read(text)).toBeUndefined()
  })

  test.each([
    ['an item that is nested too deep', `[${'['.repeat(70)}${']'.repeat(70)}]`, 'nested deeper than 64 levels'],
    ['an item with too many values', `[[${'0,'.repeat(1000)}0]]`, 'more than 1000 values and keys'],
    ['an item with too many keys', `[{${'"a":[],'.repeat(2000)}"a":0}]`, 'more than 1000 values and keys'],
    ['too many items', `[${'0,'.repeat(25_000)}0]`, 'more than 25000 items'],
    ['too many values behind the list', `{"devices":[],"x":[${'0,'.repeat(1000)}0]}`, 'more than 1000 values and keys'],
    ['too many values before the list', `{"x":[${'0,'.repeat(1000)}0],"devices":[]}`, 'more than 1000 values and keys'],
  ])('rejects %s', async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  test('yields to the event loop', async () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, channels: Array(20).fill({ id }) })))
    let turns = 0
    const turning = setInterval(() => {
      turns += 1
    })
    expect((await read(text))?.items).toHaveLength(20_000)
    clearInterval(turning)
    expect(turns).toBeGreaterThan(1)
  })
})
