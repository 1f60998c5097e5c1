import { expect, it } from 'vitest'
import { findBest } from './search.ts'

const texts = ['12 ida lang', '7 nora åkerström', '17 band h07', '3 spare nora', '21 eleonora']

it.each([
  // First what begins with the query, then the beginnings of words.
  ['nora', ['7 nora åkerström', '3 spare nora', '21 eleonora']],
  ['3', ['3 spare nora']],
  ['7', ['7 nora åkerström', '17 band h07']],
  ['NORA spare', ['3 spare nora']],
  ['', texts],
  ['nobody', []],
])('finds the best matches of %j', (query, expected) => {
  expect(findBest(texts, (text) => text, query, 10)).toEqual(expected)
})

it('returns the best ones if there are more, and reads no further than needed', () => {
  const read: string[] = []
  const textOf = (text: string) => {
    read.push(text)
    return text
  }
  expect(findBest(texts, textOf, 'nora', 2)).toEqual(['7 nora åkerström', '3 spare nora'])
  read.length = 0
  expect(findBest(texts, textOf, '', 2)).toHaveLength(2)
  expect(read).toHaveLength(2)
})
