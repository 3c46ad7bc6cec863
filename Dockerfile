# One image for every process: worker (default), API, migration, command line, and the sandbox gateway.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --include=dev --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json prisma.config.ts ./
COPY scripts scripts
COPY prisma prisma
COPY src src
COPY workers workers
RUN npm run build \
  # What is only for machines without services stays out of the image; the sandbox gateway is a service itself.
  && find dist/src/demo -mindepth 1 -maxdepth 1 ! -name sandbox-gateway -exec rm -rf {} +

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=peer --omit=optional --no-audit --no-fund && npm cache clean --force

FROM node:24-slim
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY prisma/migrations prisma/migrations
USER node
CMD ["node", "dist/workers/main.js"]
