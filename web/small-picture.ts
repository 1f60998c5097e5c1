/** A photo from this device as a small picture in text: every open page carries the pictures of the whole cast. */

const longestEdge = 384
const mostChars = 200_000

/** Null for a file that is no picture this browser can read. */
export async function smallPicture(file: Blob): Promise<string | null> {
  const bitmap = await createImageBitmap(file).catch(() => null)
  if (bitmap === null) return null
  try {
    for (let edge = longestEdge; edge >= 32; edge /= 2) {
      const text = draw(bitmap, Math.min(1, edge / Math.max(bitmap.width, bitmap.height)))
      if (text !== null && text.length <= mostChars) return text
    }
    return null
  } finally {
    bitmap.close()
  }
}

function draw(bitmap: ImageBitmap, scale: number): string | null {
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d')
  if (context === null) return null
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  const webp = canvas.toDataURL('image/webp', 0.8)
  // A browser that cannot write it gives a PNG instead, many times as large.
  return webp.startsWith('data:image/webp') ? webp : canvas.toDataURL('image/jpeg', 0.8)
}
