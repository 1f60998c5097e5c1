import { describe, expect, it } from 'vitest'
import { readCast } from './cast-columns.ts'

const cells = (text: string) => text.split('\n').map((line) => line.split('|'))

function columnsOf(text: string, requested?: Parameters<typeof readCast>[1]) {
  const read = readCast(cells(text), requested)
  return read.ok
    ? Object.fromEntries(Object.entries(read.table.columns).filter(([, index]) => index !== null))
    : read.problem
}

describe('the columns of a cast list', () => {
  // Conformance: C-16.6.
  it.each([
    [
      'with headings',
      'Mic|Actor|Character|Notes|Headshot\n1|Nora|Elphaba||',
      { slot: 0, name: 1, role: 2, note: 3, photo: 4 },
    ],
    ['with headings in another order', 'PART|Cast Member|Ch.\nElphaba|Nora|1', { slot: 2, name: 1, role: 0 }],
    ['with packs instead of slots', 'Name|Pack\nNora|Pack 1', { name: 0, pack: 1 }],
    ['with an unknown heading of the names', 'Slot|Who is it\n1|Nora', { slot: 0, name: 1 }],
    ['without headings', '1|Nora|Elphaba|spare pack', { slot: 0, name: 1, role: 2, note: 3 }],
    ['without headings, names first', 'Nora|07\nAda|08', { slot: 1, name: 0 }],
    ['with repeated numbers, which are not slots', 'Nora|2|11\nAda|2|12', { slot: 2, name: 0 }],
    ['with photos', '1|https://example.com/n.png|Nora', { slot: 0, photo: 1, name: 2 }],
    ['with empty lines and cells first', '\n|||\nSlot|Name\n1|Nora', { slot: 0, name: 1 }],
  ])('are found in a list %s', (_, text, columns) => {
    expect(columnsOf(text)).toEqual(columns)
  })

  // Conformance: C-16.6.
  it.each([
    [
      { slot: 1, name: 0 },
      { slot: 1, name: 0 },
    ],
    [{ slot: 'Rf #', name: 'who', role: 0 }, 'columns.slot: there is no column with the heading Rf #'],
    [
      { slot: 'slot', name: 'NAME', role: null },
      { slot: 0, name: 1 },
    ],
    [{ name: 1 }, 'columns.slot: the text has no column of slots or packs'],
    [{ slot: 0 }, 'columns.name: the text has no column of names'],
  ])('are those that the request names: %j', (requested, columns) => {
    expect(columnsOf('Slot|Name|Role\n1|Nora|Elphaba', requested)).toEqual(columns)
  })

  it('are an error if they cannot be found', () => {
    expect(columnsOf('Nora\nAda')).toBe('columns.slot: the text has no column of slots or packs')
    expect(columnsOf('1\n2')).toBe('columns.name: the text has no column of names')
    expect(columnsOf('')).toBe('columns.name: the text has no column of names')
  })

  it('are read from every row below the headings', () => {
    const read = readCast(cells('Slot|Name\n\n 1 |  Nora   Astrup \n2'), undefined)
    const empty = { slot: '', name: '', role: '', note: '', photo: '', pack: '' }
    expect(read.ok && read.table.rows).toEqual([
      { ...empty, row: 2 },
      { ...empty, row: 3, slot: '1', name: 'Nora Astrup' },
      { ...empty, row: 4, slot: '2' },
    ])
  })
})
