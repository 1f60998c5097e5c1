import { describe, expect, it } from 'vitest'
import {
  buildTrace,
  dbmToY,
  keepInside,
  khzToX,
  nearest,
  nearestProducts,
  placeLabels,
  plotOf,
  productsNear,
  tabulate,
  ticksOf,
  tickText,
  visiblePoints,
  xToKhz,
} from './layout.ts'

const scale = { fromKhz: 470_000, widthKhz: 100_000, width: 1_000 }

it('converts frequencies and levels to pixels and back', () => {
  expect(khzToX(480_000, scale)).toBe(100)
  expect(xToKhz(100, scale)).toBe(480_000)
  const plot = plotOf(296)
  expect(plot).toEqual({ top: 56, bottom: 256 })
  expect(dbmToY(-20, plot)).toBe(56)
  expect(dbmToY(-120, plot)).toBe(256)
  expect(dbmToY(0, plot)).toBe(56)
})

describe('ticksOf', () => {
  it('returns ticks that are far enough apart for their labels', () => {
    expect(ticksOf(scale)).toEqual([
      470_000,
      480_000,
      490_000,
      ...[50, 51, 52, 53, 54, 55, 56, 57].map((ten) => ten * 10_000),
    ])
    expect(ticksOf({ fromKhz: 486_010, widthKhz: 1_000, width: 1_000 }).map(tickText)).toEqual([
      ...['486.1', '486.2', '486.3', '486.4', '486.5', '486.6', '486.7', '486.8', '486.9', '487'],
    ])
  })
})

it('finds the nearest carrier within reach', () => {
  const sorted = [470_000, 470_400, 480_000]
  expect(nearest(sorted, 470_250, 500)).toBe(1)
  expect(nearest(sorted, 470_150, 500)).toBe(0)
  expect(nearest(sorted, 475_000, 500)).toBeNull()
  expect(nearest([], 475_000, 500)).toBeNull()
})

describe('placeLabels', () => {
  const labels = [
    { khz: 470_000, widthPx: 40, rank: 1 },
    { khz: 470_100, widthPx: 40, rank: 1 },
    { khz: 470_200, widthPx: 40, rank: 1 },
    { khz: 470_150, widthPx: 40, rank: 0 },
  ]

  it('gives labels with a low rank room first', () => {
    expect(placeLabels(labels, 100)).toEqual([1, null, null, 0])
  })

  it('shows all labels if there is room', () => {
    expect(placeLabels(labels, 0.5)).toEqual([0, 0, 0, 0])
  })
})

describe('keepInside', () => {
  const label = (x: number, row = 0) => ({ x, widthPx: 40, row })

  it('moves labels at the edges inside, and omits those outside', () => {
    expect(keepInside([label(5), label(100), label(195), label(-1), label(201)], 200)).toEqual([
      20,
      100,
      180,
      null,
      null,
    ])
  })

  it('omits a label at an edge if another one of its row is there', () => {
    expect(keepInside([label(5), label(60), label(5, 1)], 200)).toEqual([null, 60, 20])
  })
})

describe('productsNear', () => {
  it('returns 2A − B near carriers, within each zone', () => {
    const carriers = [494_100, 500_000, 506_000]
    const generators = [
      { khz: 500_000, zone: null },
      { khz: 506_000, zone: null },
    ]
    // 2 × 506 − 500 = 512 is near no carrier.
    expect([...productsNear(generators, carriers)]).toEqual([494_000])
    expect([
      ...productsNear(
        [
          { khz: 500_000, zone: 'A' },
          { khz: 506_000, zone: 'B' },
        ],
        carriers,
      ),
    ]).toEqual([])
  })
})

it('nearestProducts lists the products in a span with their nearest carriers, the nearest first', () => {
  const products = Int32Array.from([494_000, 500_400, 500_900, 520_000])
  const span = { fromKhz: 495_000, widthKhz: 35_000 }
  expect(nearestProducts(products, [494_100, 500_000, 501_000], span)).toEqual([
    { khz: 500_900, carrier: 2, distanceKhz: 100 },
    { khz: 500_400, carrier: 1, distanceKhz: 400 },
  ])
})

describe('a trace', () => {
  const count = 10_000
  const mhz = Array.from({ length: count }, (_, index) => 470 + index * 0.01)
  const dbm = mhz.map((_, index) => (index === 5_001 ? -30 : -100))

  it('keeps narrow peaks when many points share a pixel', () => {
    const { khz, dbm: drawn } = visiblePoints(buildTrace(mhz, dbm), { ...scale, width: 500 })
    expect(khz.length).toBeLessThan(503)
    expect(Math.max(...drawn)).toBe(-30)
  })

  it('returns all points when they are few, and one beyond each edge', () => {
    const visible = { fromKhz: 480_005, widthKhz: 100, width: 500 }
    expect([...visiblePoints(buildTrace(mhz, dbm), visible).khz].map(Math.round)).toEqual([
      ...[480_000, 480_010, 480_020, 480_030, 480_040, 480_050, 480_060, 480_070, 480_080, 480_090, 480_100, 480_110],
    ])
  })

  it('sorts the points', () => {
    const { khz } = visiblePoints(buildTrace([480, 470], [-90, -80]), scale)
    expect([...khz]).toEqual([470_000, 480_000])
  })

  // Conformance: C-15.94.
  it('is tabulated as the highest level in ranges of a round width', () => {
    const wide = tabulate([buildTrace(mhz, dbm), buildTrace([475], [-60.5])], { fromKhz: 460_000, widthKhz: 60_000 }, 6)
    expect(wide.map(({ fromKhz, toKhz }) => [fromKhz, toKhz])).toEqual(
      [47, 48, 49, 50, 51].map((ten) => [ten * 10_000, (ten + 1) * 10_000]),
    )
    expect(wide.map(({ highest }) => highest)).toEqual([
      [-100, -60.5],
      [-100, null],
      [-100, null],
      [-100, null],
      [-100, null],
    ])
    const narrow = tabulate([buildTrace(mhz, dbm)], { fromKhz: 520_000, widthKhz: 30 }, 6)
    expect(narrow).toEqual([
      { fromKhz: 520_000, toKhz: 520_005, highest: [-100] },
      { fromKhz: 520_010, toKhz: 520_015, highest: [-30] },
      { fromKhz: 520_020, toKhz: 520_025, highest: [-100] },
    ])
  })
})
