import { expect, test } from 'vitest'
import { isPlausible, roundForecast } from './forecast.ts'

test('a forecast is in whole minutes under 15, and never under 1', () => {
  const round = (minutes: number) => roundForecast({ minutes_left: minutes, source: 'history', low: 0, high: 63 })
  expect([0, 1, 14, 16, 63].map((minutes) => round(minutes).minutes_left)).toEqual([1, 1, 14, 15, 65])
  expect(round(14)).toMatchObject({ low: 1, high: 65 })
})

test('a forecast is plausible between a fifth and five times the usual rate', () => {
  const usual = { ofModel: [9, 10, 30], ofType: [50] }
  expect([10, 12, 300, 3000, 3100].map((minutes) => isPlausible(100, minutes, { ...usual }))).toEqual([
    ...[false, false, true, true, false],
  ])
  expect(isPlausible(100, 120, { ofModel: [1, 1], ofType: [50] })).toBe(true)
  expect([99, 101, 3000, 3001].map((minutes) => isPlausible(100, minutes, { ofModel: [], ofType: [] }))).toEqual([
    ...[false, true, true, false],
  ])
})
