export function BrandSign() {
  return (
    <svg className="brand-sign" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="12" y="3" width="8" height="16" rx="4" />
      <path d="M7 15a9 9 0 0 0 18 0M16 24v5M10 29h12" />
    </svg>
  )
}
