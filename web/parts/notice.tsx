/** A message in the middle of an otherwise empty page. */

import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface NoticeProps {
  readonly title: string
  readonly icon?: LucideIcon
  readonly children?: ReactNode
}

export function Notice({ title, icon: Icon, children }: NoticeProps) {
  return (
    <section className="notice">
      {Icon === undefined ? null : (
        <span className="notice-icon">
          <Icon className="icon" aria-hidden="true" />
        </span>
      )}
      <h2>{title}</h2>
      {children}
    </section>
  )
}
