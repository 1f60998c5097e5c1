export interface Span {
  readonly fromKhz: number
  readonly widthKhz: number
}

const [minWidthKhz, maxKhz] = [100, 3_000_000]
/** Space beside the outermost carriers: a share of the width, and a minimum. */
const [marginShare, minMarginKhz] = [0.03, 500]
/** Without carriers: the UHF band in which most wireless microphones work. */
const emptySpan: Span = { fromKhz: 470_000, widthKhz: 230_000 }

export function fitSpan(frequencies: readonly number[]): Span {
  if (frequencies.length === 0) return emptySpan
  const [least, most] = [Math.min(...frequencies), Math.max(...frequencies)]
  const margin = Math.max(minMarginKhz, (most - least) * marginShare)
  return clampSpan({ fromKhz: least - margin, widthKhz: most - least + 2 * margin })
}

/** The frequency at this share of the span stays in place. */
export function zoomSpan({ fromKhz, widthKhz }: Span, factor: number, share: number): Span {
  const width = clampWidth(widthKhz * factor)
  return clampSpan({ fromKhz: fromKhz + share * (widthKhz - width), widthKhz: width })
}

export function panSpan({ fromKhz, widthKhz }: Span, khz: number): Span {
  return clampSpan({ fromKhz: fromKhz + khz, widthKhz })
}

/** The span itself if it contains all frequencies, otherwise one that does and is not narrower. */
export function spanContaining(span: Span, frequencies: readonly number[]): Span {
  const { fromKhz, widthKhz } = span
  if (frequencies.every((khz) => khz >= fromKhz && khz <= fromKhz + widthKhz)) return span
  const fitted = fitSpan(frequencies)
  if (fitted.widthKhz >= widthKhz) return fitted
  return clampSpan({ fromKhz: fitted.fromKhz + fitted.widthKhz / 2 - widthKhz / 2, widthKhz })
}

function clampSpan({ fromKhz, widthKhz }: Span): Span {
  const width = clampWidth(widthKhz)
  return { fromKhz: Math.min(maxKhz - width, Math.max(0, fromKhz)), widthKhz: width }
}

const clampWidth = (width: number) => Math.min(maxKhz, Math.max(minWidthKhz, width))
