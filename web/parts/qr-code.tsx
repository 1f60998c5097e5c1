import { encode } from 'uqr'
import { t } from '../app/i18n.ts'
import './qr-code.css'

export function QrCode({ address }: { address: string }) {
  return (
    <div className="qr">
      {isLoopback(new URL(address).hostname) ? <p className="qr-note">{t('live.qr.loopback')}</p> : null}
      <QrShape content={address} label={t('live.qr.label', { address })} />
      <p className="qr-address">{address}</p>
    </div>
  )
}

export function QrShape({ content, label }: { content: string; label: string }) {
  const { data, size } = encode(content, { ecc: 'M', border: 3 })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg className="qr-shape" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" shapeRendering="crispEdges" />
    </svg>
  )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host)
}
