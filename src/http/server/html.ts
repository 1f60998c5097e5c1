/** Content negotiation for HTML, and escaping of text. */

/** Compares HTML with JSON (RFC 9110, 12.5.1). A missing `Accept` means any type. */
export function prefersHtml(accept = '*/*'): boolean {
  const ranges = accept.split(',').map(parseRange)
  return qualityOf('text/html', ranges) > qualityOf('application/json', ranges)
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}

function parseRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice('q='.length))
  return { type, quality: Number.isNaN(quality) ? 0 : quality }
}

/** Returns the quality of the most specific matching range; 0 if none matches. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const candidates = [type, type.replace(/\/.*/, '/*'), '*/*']
  for (const candidate of candidates) {
    const range = ranges.find((range) => range.type === candidate)
    if (range !== undefined) return range.quality
  }
  return 0
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
