export const notifiersPath = '/api/admin/notification-channels/'
export const rulesPath = '/api/admin/notification-rules/'
export const deliveriesPath = '/api/admin/notification-deliveries/'

export const notificationTopics = ['notifications'] as const
