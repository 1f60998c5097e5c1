import { expect, it } from 'vitest'
import { fitName, splitName } from './name-fit.ts'

it('estimates wide letters wider than narrow ones', () => {
  expect(fitName('Mommsen').whole).toBeGreaterThan(fitName('Lillith').whole * 1.4)
  expect(fitName('李小龍').whole).toBeGreaterThan(3)
})

it('breaks between words so that the longer line is shortest', () => {
  const { whole, broken } = fitName('The Man in Black')
  expect(broken).toBeCloseTo(fitName('The Man').whole, 1)
  expect(broken).toBeLessThan(whole * 0.6)
  expect(fitName('Bartholomew').broken).toBe(fitName('Bartholomew').whole)
})

it('limits the font size to the card and to the legible minimum', () => {
  expect(fitName('').whole).toBe(fitName('Jo').whole)
  expect(fitName('W'.repeat(255)).whole).toBe(22)
})

it('keeps a short last word, in which names of a section differ', () => {
  expect(splitName('Choir Soprano 2')).toEqual(['Choir Soprano', ' 2'])
  expect(splitName('Pastor Lindqvist')).toEqual(['Pastor Lindqvist', ''])
  expect(splitName('H01')).toEqual(['H01', ''])
})
