const longestEdge = 384
const maxChars = 200_000

/** Returns a data URL; null if the browser cannot decode the file. */
export async function smallPicture(file: Blob): Promise<string | null> {
  const bitmap = await createImageBitmap(file).catch(() => null)
  if (bitmap === null) return null
  try {
    for (let edge = longestEdge; edge >= 32; edge /= 2) {
      const text = draw(bitmap, Math.min(1, edge / Math.max(bitmap.width, bitmap.height)))
      if (text !== null && text.length <= maxChars) return text
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
  // Browsers without WebP encoding return a PNG, which is many times larger.
  return webp.startsWith('data:image/webp') ? webp : canvas.toDataURL('image/jpeg', 0.8)
}
