import { expect, it } from 'vitest'
import { fitSpan, panSpan, spanContaining, zoomSpan } from './span.ts'

it('fits all carriers with a margin', () => {
  expect(fitSpan([500_000, 600_000])).toEqual({ fromKhz: 497_000, widthKhz: 106_000 })
  expect(fitSpan([500_000])).toEqual({ fromKhz: 499_500, widthKhz: 1_000 })
})

it('shows the UHF band without carriers', () => {
  expect(fitSpan([])).toEqual({ fromKhz: 470_000, widthKhz: 230_000 })
})

it('zooms around a point, which stays in place', () => {
  const span = { fromKhz: 500_000, widthKhz: 100_000 }
  expect(zoomSpan(span, 0.5, 0.25)).toEqual({ fromKhz: 512_500, widthKhz: 50_000 })
  expect(zoomSpan(zoomSpan(span, 0.5, 0.25), 2, 0.25)).toEqual(span)
})

it('stays within the spectrum', () => {
  expect(panSpan({ fromKhz: 10_000, widthKhz: 100_000 }, -50_000)).toEqual({ fromKhz: 0, widthKhz: 100_000 })
  expect(zoomSpan({ fromKhz: 500_000, widthKhz: 200 }, 0.01, 0.5)).toEqual({ fromKhz: 500_050, widthKhz: 100 })
  expect(zoomSpan({ fromKhz: 500_000, widthKhz: 200_000 }, 1_000, 0.5)).toEqual({ fromKhz: 0, widthKhz: 3_000_000 })
})

it('moves only if a frequency is outside, and keeps the width if it suffices', () => {
  const span = { fromKhz: 500_000, widthKhz: 10_000 }
  expect(spanContaining(span, [501_000, 509_000])).toBe(span)
  expect(spanContaining(span, [521_000, 523_000])).toEqual({ fromKhz: 517_000, widthKhz: 10_000 })
  expect(spanContaining(span, [500_000, 600_000])).toEqual({ fromKhz: 497_000, widthKhz: 106_000 })
})
